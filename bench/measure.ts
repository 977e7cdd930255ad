import type { Row } from './report.ts';

export type MeasureOptions = {
  /** Smaller sizes, for a look within a minute. */
  quick: boolean;
  /** Tells the person who waits what happens. */
  progress(text: string): void;
};

/** Something that is measured: its rows, or a failure when it could not run. */
export type Measure = { name: string; run(options: MeasureOptions): Promise<Row[]> };
