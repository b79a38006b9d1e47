#pragma once
typedef int plugin_function(int);
