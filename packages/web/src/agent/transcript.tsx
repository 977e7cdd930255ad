import type { AgentView } from '@pawl/protocol/agents/view';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { Button, Empty } from '../parts/basic.tsx';
import { TurnRow } from './turn-row.tsx';
import type { Turn } from './turns.ts';

/** How far from its end a list still follows what is added. */
const nearEnd = 120;

/** The messages of an agent. It follows the end unless somebody has scrolled up. */
export function Transcript({ turns, agent }: { turns: readonly Turn[]; agent: AgentView }) {
  const place = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const rows = useVirtualizer({
    count: turns.length,
    getScrollElement: () => place.current,
    estimateSize: () => 120,
    overscan: 6,
    getItemKey: (index) => turns[index]?.id ?? index,
  });
  useEffect(() => {
    if (follows && turns.length > 0) rows.scrollToIndex(turns.length - 1, { align: 'end' });
  }, [follows, turns, rows]);
  if (turns.length === 0)
    return (
      <div className="flex-1">
        <Empty command={`pawl resume ${agent.alias}`}>
          {agent.run?.status === 'running' ? 'It has not said anything yet.' : 'It has said nothing. Let it go on:'}
        </Empty>
      </div>
    );
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={place}
        className="h-full min-h-64 overflow-y-auto"
        // A person scrolls it with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="log"
        aria-label={`Messages of ${agent.alias}`}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setFollows(scrollHeight - scrollTop - clientHeight < nearEnd)
        }
      >
        <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((item) => {
            const turn = turns[item.index];
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={rows.measureElement}
                className="absolute top-0 left-0 w-full border-b border-line"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {turn !== undefined && <TurnRow turn={turn} />}
              </div>
            );
          })}
        </div>
      </div>
      {!follows && (
        <Button className="absolute right-4 bottom-3 shadow" onClick={() => setFollows(true)}>
          ↓ Newest
        </Button>
      )}
    </div>
  );
}
