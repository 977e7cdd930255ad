process.stderr.write('agent-roster: not built yet; this version cannot tell who else is here.\n');
process.exitCode = 2;
