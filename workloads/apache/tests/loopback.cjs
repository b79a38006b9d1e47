// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// node --require: servers listen on the loopback address only.
const net = require('net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest);
};
