import { describe, expect, test } from 'vitest';
import type { CleanUp, WorktreeWork } from '../../src/agents/clean-up.ts';
import { judgeCleanUp } from '../../src/agents/clean-up.ts';

const trash = (deleteBranch: boolean): CleanUp => ({ do: 'trash', deleteBranch });
const retain = (reason: string): CleanUp => ({ do: 'retain', reason });

type Row = [name: string, state: WorktreeWork['state'], processes: number, verdict: CleanUp];

const rows: Row[] = [
  ['clean: it goes with its branch', 'clean', 0, trash(true)],
  ['commits that are nowhere else: it goes, the branch stays', 'unpushed', 0, trash(false)],
  ['uncommitted files: it stays, and says why', 'dirty', 0, retain('why')],
  ['locked: it stays', 'locked', 0, retain('why')],
  ['another worktree lies inside: it stays', 'occupied', 0, retain('why')],
  ['nothing is there', 'missing', 0, { do: 'note-missing' }],
  ['clean, but somebody works in it', 'clean', 2, retain('2 processes are still working in it')],
  ['unpushed, but somebody works in it', 'unpushed', 2, retain('2 processes are still working in it')],
  ['dirty, and somebody works in it', 'dirty', 2, retain('2 processes are still working in it')],
  ['nothing is there, though somebody was in it', 'missing', 2, { do: 'note-missing' }],
];

describe('clean-up of a dead agent’s worktree [7.11]', () => {
  test.each(rows)('%s', (_name, state, processes, verdict) => {
    expect(judgeCleanUp({ state, processes, detail: 'why' })).toEqual(verdict);
  });

  test('a branch is deleted only if the worktree is clean and no process works there', () => {
    const states: WorktreeWork['state'][] = ['missing', 'locked', 'occupied', 'dirty', 'unpushed', 'clean'];
    for (const state of states) {
      for (const processes of [0, 1]) {
        const verdict = judgeCleanUp({ state, processes, detail: 'why' });
        const deletes = verdict.do === 'trash' && verdict.deleteBranch;
        expect(deletes).toBe(state === 'clean' && processes === 0);
      }
    }
  });
});
