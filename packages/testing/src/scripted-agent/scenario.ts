import type { z } from 'zod';
import type { stepSchemas } from './step-schema.ts';

type Schemas = typeof stepSchemas;
type StepKind = Exclude<keyof Schemas, 'repeat'>;

/** The parsed data of each step. */
export type StepValues = { [K in StepKind]: z.output<Schemas[K]> };

/** A step ready to play; `n` counts the rounds of the innermost `repeat` from 1. */
export type Step = { [K in StepKind]: { kind: K; value: StepValues[K]; n?: number } }[StepKind];

/** A scenario with every `repeat` unrolled, so that one number is the position. */
export type Scenario = { name: string; steps: Step[] };
