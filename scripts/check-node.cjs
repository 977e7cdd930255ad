// Says in one line that this Node is too old, before anything is installed. In old syntax, so that an old Node gets
// this far. A checkout needs Node 20 for its npm commands, which then run on the Node that they install; the packed
// program has no such Node and needs what packages/cli/src/bin.ts requires.
var fs = require('fs');
var path = require('path');

var isCheckout = fs.existsSync(path.join(__dirname, '..', 'packages'));
var needed = isCheckout ? [20, 0] : [24, 15];
var parts = process.versions.node.split('.');
var major = Number(parts[0]);
if (major < needed[0] || (major === needed[0] && Number(parts[1]) < needed[1])) {
  process.stderr.write(
    'error: pawl needs Node ' +
      needed.join('.') +
      ' or newer; this is ' +
      process.versions.node +
      '. Install a newer Node and try again.\n',
  );
  process.exit(1);
}
