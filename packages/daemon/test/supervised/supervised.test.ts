import { startAsCheck, startAsSession, startWithFile } from './commands.ts';
import { describeSupervision } from './contract.ts';

describeSupervision('are in a file', startWithFile);
describeSupervision('are in a check', startAsCheck);
describeSupervision('are in a session', startAsSession);
