import { printableLine } from '@pawl/present/text';
import type { palette } from '@pawl/cli/terminal/palette';
import type { Event } from '@pawl/schema/event';
import { eventData } from '@pawl/schema/event';

type Colours = ReturnType<typeof palette>;

/** Names for ids in events: agents and changes. */
export type Cast = { agents: Map<string, string>; changes: Map<string, string> };

/** Renders one queue event as a line, or null if it is not part of the story. Learns names on the way. */
export function tell(event: Event, cast: Cast, colours: Colours): string | null {
  const who = (id: string | null) => colours.bold(cast.agents.get(id ?? '') ?? 'somebody');
  const names = (ids: readonly string[]) => ids.map((id) => cast.changes.get(id) ?? id.slice(0, 8)).join(', ');
  switch (event.type) {
    case 'agent.forked': {
      cast.agents.set(event.agentId ?? '', eventData['agent.forked'].parse(event.data).alias);
      return null;
    }
    case 'change.opened':
    case 'change.moved': {
      const { changeId, head } = eventData['change.moved'].pick({ changeId: true, head: true }).parse(event.data);
      cast.changes.set(changeId, cast.agents.get(event.agentId ?? '') ?? changeId.slice(0, 8));
      const what = event.type === 'change.opened' ? 'proposes a change' : 'proposes it again';
      return `${who(event.agentId)} ${what} ${colours.dim(head.slice(0, 8))}`;
    }
    case 'check.started': {
      const { changes } = eventData['check.started'].parse(event.data);
      const what = changes.length === 0 ? 'main itself' : `${names(changes)} together`;
      return `${colours.cyan('▸')} queue checks ${changes.length === 1 ? names(changes) : what}`;
    }
    case 'check.ended': {
      const { outcome, detail, counts, flaky } = eventData['check.ended'].parse(event.data);
      const tests = counts === null ? '' : `, ${counts.run} tests`;
      if (outcome === 'passed') return colours.green(`  ■ green${tests}${flaky ? ', at the second try' : ''}`);
      return outcome === 'failed' ? colours.red(`  ■ red: ${printableLine(detail)}`) : null;
    }
    case 'change.ejected': {
      const { changeId, reason } = eventData['change.ejected'].parse(event.data);
      return `${colours.red('✗')} ${names([changeId])} is put out and told why: ${printableLine(reason)}`;
    }
    case 'main.advanced': {
      const { changes, to } = eventData['main.advanced'].parse(event.data);
      return `${colours.green('✓')} main moves to ${to.slice(0, 8)}: ${names(changes)}`;
    }
    case 'conflict.predicted': {
      const { files } = eventData['conflict.predicted'].parse(event.data);
      return `${colours.yellow('!')} ${who(event.agentId)} and ${who(event.peerId)} will collide in ${printableLine(files.join(', '))}; both are told`;
    }
    default:
      return null;
  }
}
