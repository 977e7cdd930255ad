import { activityOf, changeOf, costOf, runDuration, stateOf, taskOf } from '@pawl/present/agents/agent-text';
import { bytes, clockTime, count, duration, tokens } from '@pawl/present/amount';
import { agentTone } from '@pawl/present/state-tone';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { Top } from '@pawl/protocol/sessions/view';
import type { Palette } from '../terminal/palette.ts';
import { cut } from '../terminal/palette.ts';
import { table } from '../terminal/table.ts';

/** The daemon's answer, and its time on a monotonic clock. */
export type Sample = { top: Top; atMs: number };
export type FrameOptions = {
  columns: number;
  /** The available lines; unlimited if absent. */
  rows?: number;
  colours: Palette;
  now: number;
};

type Row = { agent: Top['agents'][number]; cpu: number | null };

const columns = [
  { title: 'AGENT' },
  { title: 'STATE' },
  { title: 'CPU%' },
  { title: 'MEM' },
  { title: 'TASK', flexible: true },
  { title: 'ACTIVITY', flexible: true },
  { title: 'CHANGE', optional: 2 },
  { title: 'COST', optional: 1 },
  { title: 'TIME', optional: 3 },
  { title: 'PROC', optional: 4 },
];

/** Lines above the rows: header, empty line, titles. */
const linesAbove = 5;

/** Renders one frame: a header, and the agents, busiest first. Never exceeds the screen. */
export function topFrame(previous: Sample | null, sample: Sample, options: FrameOptions): string[] {
  const { colours, rows: screenRows = Infinity } = options;
  const all = sample.top.agents.map((agent) => ({ agent, cpu: cpuPercent(previous, sample, agent) })).toSorted(busier);
  const room = Math.max(0, screenRows - linesAbove);
  const shown = all.length <= room ? all : all.slice(0, Math.max(0, room - 1));
  const rows = shown.map((row) => cells(row, options.now));
  const lines = [
    ...header(sample.top, options),
    '',
    ...(all.length === 0 ? ['no agents'] : table(columns, rows, colours, options.columns).split('\n')),
    ...(shown.length === all.length ? [] : [colours.dim(`… ${all.length - shown.length} more`)]),
  ];
  return lines.slice(0, screenRows).map((line) => cut(line, options.columns));
}

/** The CPU share of an agent between two samples; null if unknown. */
export function cpuPercent(previous: Sample | null, sample: Sample, agent: Row['agent']): number | null {
  const before = previous?.top.agents.find(({ id }) => id === agent.id);
  if (previous === null || before === undefined || before.session?.id !== agent.session?.id) return null;
  if (before.cpuMs === null || agent.cpuMs === null || sample.atMs <= previous.atMs) return null;
  // An exited process takes its time with it.
  return Math.max(0, ((agent.cpuMs - before.cpuMs) / (sample.atMs - previous.atMs)) * 100);
}

function busier(a: Row, b: Row): number {
  return (
    (b.cpu ?? 0) - (a.cpu ?? 0) ||
    (b.agent.memoryBytes ?? 0) - (a.agent.memoryBytes ?? 0) ||
    (a.agent.alias < b.agent.alias ? -1 : 1)
  );
}

function header({ daemon, counts, agents }: Top, { colours, now }: FrameOptions): string[] {
  const usage = { input: 0, output: 0, costUsd: 0 };
  for (const agent of agents) {
    usage.input += agent.usage.inputTokens;
    usage.output += agent.usage.outputTokens;
    usage.costUsd += agent.usage.costUsd;
  }
  const states = Object.entries(counts).map(([state, number]) => `${number} ${printableLine(state)}`);
  return [
    `${colours.bold('pawl')} ${clockTime(now)}, up ${duration(daemon.uptimeMs)}, daemon ${bytes(daemon.memoryBytes)}`,
    states.length === 0 ? count(agents.length, 'agent') : `agents: ${states.join(', ')}`,
    `tokens: ${tokens(usage.input)} in, ${tokens(usage.output)} out, ${usage.costUsd > 0 ? `$${usage.costUsd.toFixed(4)}` : 'cost not reported'}`,
  ];
}

function cells({ agent, cpu }: Row, now: number) {
  const state = stateOf(agent);
  return [
    span(agent.alias, 'strong'),
    span(state, agentTone(state)),
    cpu === null ? '-' : cpu.toFixed(1),
    agent.memoryBytes === null ? '-' : bytes(agent.memoryBytes),
    taskOf(agent),
    span(activityOf(agent), 'muted'),
    changeOf(agent),
    costOf(agent),
    runDuration(agent, now),
    String(agent.processes),
  ];
}
