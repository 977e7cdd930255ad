import type { Mail } from '@pawl/schema/mail';
import type { Way } from './mail-way.ts';

/**
 * What is known of a mail that has not arrived, in words that claim no more than that: it is on its way only when a session
 * has it in its hands. Empty once it has arrived.
 */
export function detailOfMail(mail: Mail, recipient: string, way: Way): string {
  if (mail.deadAt !== null) return `it never arrives: ${mail.deadReason ?? 'nobody knows why'}`;
  if (mail.deliveredAt !== null) return '';
  if (mail.claimSessionId !== null) return `${recipient} has it in front of it and has not shown that it saw it`;
  switch (way.way) {
    case 'live':
    case 'wake':
      return 'handed over soon';
    case 'dead':
      return `not delivered: ${way.why}`;
    case 'wait':
      return `queued: ${named(way.why, recipient)}${/\bfetch/.test(way.why) ? '' : '; it is delivered when it goes on'}`;
  }
}

/** A reason speaks of its agent as “it”. */
function named(why: string, recipient: string): string {
  return why.replace(/^it /, `${recipient} `).replace(/^its /, `${recipient}’s `);
}
