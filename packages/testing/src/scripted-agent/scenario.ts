import type { z } from 'zod';
import type { stepSchemas } from './step-schema.ts';

type Schemas = typeof stepSchemas;
type StepKind = Exclude<keyof Schemas, 'repeat'>;

/** What each step carries when its scenario has been read. */
export type StepValues = { [K in StepKind]: z.output<Schemas[K]> };

/** A step that is ready to be played; `n` counts the rounds of the innermost `repeat` from 1. */
export type Step = { [K in StepKind]: { kind: K; value: StepValues[K]; n?: number } }[StepKind];

/** A scenario with every `repeat` unrolled, so that one number says where a conversation stands. */
export type Scenario = { name: string; steps: Step[] };
