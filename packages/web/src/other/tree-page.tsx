import { familyRows } from '@pawl/present/agents/family-tree';
import type { Line } from '@pawl/present/tone';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAgents } from '../app/answers.ts';
import { Button, Loaded, Title } from '../parts/basic.tsx';
import { toneClass } from '../parts/mark.tsx';

const deepest = 12;

/** The position of the agent's name: the current one has a mark before it. */
const nameAt = (line: Line) => line.findIndex(({ text }) => text.trim() !== '*');

/** All agents below their parents, in the order of their birth. */
export function TreePage() {
  const agents = useAgents();
  const [all, setAll] = useState(false);
  return (
    <Loaded answer={agents}>
      {(list) => {
        const { rows, counts } = familyRows(list.agents, { all, current: list.current, deepest });
        return (
          <>
            <Title
              aside={
                <Button aria-pressed={all} onClick={() => setAll(!all)}>
                  {all ? 'Hide the dead' : 'Show the dead'}
                </Button>
              }
            >
              Tree
            </Title>
            <p className="px-4 py-2 text-sm text-muted">{counts}</p>
            <div className="overflow-x-auto px-4 pb-4 font-mono text-sm leading-6 whitespace-pre">
              {rows.map(({ agentId, branch, line }, index) => (
                <div key={agentId ?? `folded ${index}`}>
                  <span className="text-muted" aria-hidden>
                    {branch}
                  </span>
                  {line.map(({ text, tone }, at) =>
                    at === nameAt(line) && agentId !== null ? (
                      <Link key={text} to="/agents/$id" params={{ id: agentId }} className="text-accent underline">
                        {text}
                      </Link>
                    ) : (
                      // The parts of a line never change their order.
                      // oxlint-disable-next-line react/no-array-index-key
                      <span key={at} className={toneClass(tone)}>
                        {text}
                      </span>
                    ),
                  )}
                </div>
              ))}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}
