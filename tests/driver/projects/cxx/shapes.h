#pragma once
#include <memory>
#include <stdexcept>
#include <string>

class Shape {
public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual std::string name() const { return "shape"; }
};

struct NoSuchShape : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::unique_ptr<Shape> make_shape(const std::string &kind, double size);
