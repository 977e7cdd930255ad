import { expect, test } from 'vitest';
import type { OwnRights } from '../../src/approvals/may-allow.ts';
import { whyNotAllow } from '../../src/approvals/may-allow.ts';

const allows = { allowed: true, reason: '' };
const refuses = { allowed: false, reason: 'the definition lead does not allow Bash' };
const judged = (effect: 'allow' | 'deny' | 'ask') => ({ effect, reason: `a rule says ${effect}` });

test.each<[string, OwnRights, string | null]>([
  ['full access', { access: 'full', gate: allows, judged: judged('ask') }, null],
  ['a tool outside its definition', { access: 'full', gate: refuses, judged: judged('allow') }, refuses.reason],
  ['a rule that denies it', { access: 'full', gate: allows, judged: judged('deny') }, 'a rule says deny'],
  ['access ask', { access: 'ask', gate: allows, judged: judged('ask') }, 'it would have to ask for that itself'],
  ['access ask and a rule that allows it', { access: 'ask', gate: allows, judged: judged('allow') }, null],
  ['read-only access', { access: 'read-only', gate: allows, judged: judged('allow') }, 'its own access is read-only'],
  [
    'a host that it may not reach',
    { access: 'full', gate: null, judged: judged('ask') },
    'it would have to ask for that itself',
  ],
  ['a host that a rule allows it', { access: 'full', gate: null, judged: judged('allow') }, null],
])('an agent with %s', (_name, rights, why) => {
  expect(whyNotAllow(rights)).toBe(why);
});
