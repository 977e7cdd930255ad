import { compilePattern } from './pattern.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How much of a text is read, and how much after the words before a time. */
const readCharacters = 8_192;
const timeCharacters = 160;
/** A longer limit is a misunderstanding. */
const longestMs = 62 * dayMs;
/** Clock times have no seconds, so one that has just passed still counts. */
const justPassedMs = 2 * minuteMs;

/** The words that vendors put before the end of a limit, unless a preset names others. */
const usualWords = [
  '\\breset\\w{0,10}(?: at| on| in| after)?',
  '\\b(?:try again|available(?: again)?)(?: at| on| in| after)?',
  '\\bretry(?: at| on| in|.?after)?',
  '\\b(?:until|wait)',
  'limit reached\\|',
];

/**
 * Parses the end of a usage limit from a CLI's words, in milliseconds since 1970: a moment, a time of day (the next
 * one; in the machine's zone unless another is named), or a duration. Only text after the preset's words counts: log
 * lines have timestamps, too. Null if there is none.
 */
export function resetTimeIn(words: string, nowMs: number, named: readonly string[] = usualWords): number | null {
  const read = words.slice(-readCharacters);
  for (const pattern of named.map(compilePattern)) {
    for (const end of 'endsIn' in pattern ? pattern.endsIn(read) : []) {
      const found = timeAfter(read, end, nowMs);
      if (found !== null && found >= nowMs - dayMs && found <= nowMs + longestMs) return Math.round(found);
    }
  }
  return null;
}

function timeAfter(words: string, end: number, nowMs: number): number | null {
  const rest = words
    .slice(end, end + timeCharacters)
    .replace(/^["']?\s{0,2}[:=|]?\s{0,2}["']?(?:(?:at|on|in|after):? )?/i, '');
  const seconds = /after["']?$/i.test(words.slice(Math.max(0, end - 6), end)) ? secondsAt(rest) : null;
  return (
    momentAt(rest) ?? clockTimeAt(rest, nowMs) ?? whileAt(rest, nowMs) ?? (seconds === null ? null : nowMs + seconds)
  );
}

/** The header `retry-after` is in seconds, without a unit. */
function secondsAt(words: string): number | null {
  const number = /^(\d{1,7})(?![\d.:]|\s?[a-z])/i.exec(words)?.[1];
  return number === undefined || number === '0' ? null : Number(number) * 1000;
}

/** Seconds or milliseconds since 1970, or an ISO date. */
function momentAt(words: string): number | null {
  const number = /^(\d{10}|\d{13})\b/.exec(words)?.[1];
  if (number !== undefined) return number.length === 10 ? Number(number) * 1000 : Number(number);
  const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)\b/.exec(words)?.[0];
  const parsed = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(parsed) ? null : parsed;
}

const clock =
  /^(?:([a-z]{3})[a-z]{0,6}\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? )?(\d{1,2})(?::(\d\d))?(?::\d\d)? ?([ap]\.?m\b)?(?: ?\(([A-Za-z_+\-/0-9]{1,40})\))?/i;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `resets 5:41am (UTC)`, `try again at 5:43 AM`, `resets Nov 20 at 5pm`, `try again at Nov 20th, 2026 5:43 AM`. */
function clockTimeAt(words: string, nowMs: number): number | null {
  const match = clock.exec(words);
  if (match === null) return null;
  const [, monthName, day, year, hourText, minuteText, half, zone] = match;
  // A bare number is not a time of day.
  if (minuteText === undefined && half === undefined) return null;
  const hour = hourOf(Number(hourText), half);
  const minute = Number(minuteText ?? 0);
  if (hour === null || minute > 59) return null;
  const today = partsIn(nowMs, zone);
  if (today === null) return null;
  const month = monthName === undefined ? -1 : months.indexOf(monthName.toLowerCase());
  if (monthName !== undefined && month === -1) return null;
  if (month !== -1) {
    const at = (y: number) => momentOf({ year: y, month, day: Number(day), hour, minute }, zone);
    if (year !== undefined) return at(Number(year));
    const thisYear = at(today.year);
    return thisYear < nowMs - 2 * dayMs ? at(today.year + 1) : thisYear;
  }
  const at = (days: number) => momentOf({ ...today, day: today.day + days, hour, minute }, zone);
  return at(0) < nowMs - justPassedMs ? at(1) : at(0);
}

function hourOf(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour <= 23 ? hour : null;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0);
}

type Parts = { year: number; month: number; day: number; hour: number; minute: number };

/** Calendar and clock fields at a moment, in the machine's zone or a named one; null for an unknown zone. */
function partsIn(atMs: number, zone: string | undefined): Parts | null {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      ...(zone === undefined ? {} : { timeZone: zone }),
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    const shown = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = shown;
    return { year, month: month - 1, day, hour, minute };
  } catch {
    return null;
  }
}

/** The moment at which a zone's clock shows these fields: guessed as UTC, then corrected. */
function momentOf(wanted: Parts, zone: string | undefined): number {
  const asUtc = ({ year, month, day, hour, minute }: Parts) => Date.UTC(year, month, day, hour, minute);
  const target = asUtc(wanted);
  let guess = target;
  // Twice, because the first step may cross a DST change.
  for (let step = 0; step < 2; step++) {
    const shown = partsIn(guess, zone);
    if (shown !== null) guess += target - asUtc(shown);
  }
  return guess;
}

const unitMs: Record<string, number> = { d: dayMs, h: hourMs, m: minuteMs, s: 1000 };
const whilePart =
  /^(\d{1,6}(?:\.\d{1,9})?) ?(d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b(?:,? and |,? )?|^(\d{1,6}(?:\.\d{1,9})?)(d|h|m|s)(?=\d)/i;

/** `try again in 2 hours 5 minutes`, `Please retry in 34.07s`, `resets after 2h5m`. */
function whileAt(words: string, nowMs: number): number | null {
  let rest = words;
  let total = 0;
  for (let parts = 0; parts < 4; parts++) {
    const match = whilePart.exec(rest);
    if (match === null) break;
    total += Number(match[1] ?? match[3]) * (unitMs[(match[2] ?? match[4] ?? '').charAt(0).toLowerCase()] ?? 0);
    rest = rest.slice(match[0].length);
  }
  return total > 0 ? nowMs + total : null;
}
