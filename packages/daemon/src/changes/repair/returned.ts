import { idSchema } from '@pawl/schema/id';
import { integer, json, nullable, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import * as z from 'zod';

/** The last return of each change (`Returned` in core), stored so that each happens once, even after a crash. */
export const changeReturns = factTable('change_returns', ['changeId'], {
  changeId: text,
  head: text,
  ejectedAt: nullable(integer),
  comments: json(z.array(idSchema).catch([])),
  to: text,
  mailId: nullable(text),
});
