import type { Row } from './report.ts';

export type MeasureOptions = {
  /** Smaller sizes, for a run within a minute. */
  quick: boolean;
  /** Reports progress. */
  progress(text: string): void;
};

/** One measure: returns its rows, or throws if it could not run. */
export type Measure = { name: string; run(options: MeasureOptions): Promise<Row[]> };
