import type { Mail } from '@pawl/schema/mail';
import type { DeliveryRoute } from './delivery-route.ts';

/** Describes mail that has not arrived, claiming no more than is known. Empty once it has arrived. */
export function detailOfMail(mail: Mail, recipient: string, route: DeliveryRoute): string {
  if (mail.deadAt !== null) return `it will never arrive: ${mail.deadReason ?? 'unknown reason'}`;
  if (mail.deliveredAt !== null) return '';
  if (mail.claimSessionId !== null) return `${recipient} was given it and has not confirmed it`;
  switch (route.kind) {
    case 'live':
    case 'wake':
      return 'delivered soon';
    case 'dead':
      return `not delivered: ${route.why}`;
    case 'wait':
      return `queued: ${named(route.why, recipient)}${/\bfetch/.test(route.why) ? '' : '; it is delivered when it resumes'}`;
  }
}

/** Reasons refer to the agent as “it”; put its name there. */
function named(why: string, recipient: string): string {
  return why.replace(/^it /, `${recipient} `).replace(/^its /, `${recipient}’s `);
}
