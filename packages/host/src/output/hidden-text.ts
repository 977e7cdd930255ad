/**
 * Characters that a terminal or a page does not show: escape sequences, control characters except tab and newline, and
 * ignorable code points. `sk-\e[0mabc` shows as `sk-abc`, so secrets are searched without them. No sequence extends
 * beyond its line. JSON escapes (`\u001b`) count, too, since most CLIs print JSON.
 */
export type Hidden = {
  /** Cheap test whether a text may contain any. */
  maybe: RegExp;
  /** All hidden characters; keeps the content of titles and links, which may be the text searched for. */
  marks: RegExp;
  /** The same, including titles, links and other terminal strings with their content. */
  strings: RegExp;
  /** The start of such a sequence or character at the end of a text. */
  begun: RegExp;
};

const hex = '[0-9a-fA-F]';
/** JSON within JSON doubles them. */
const backslash = String.raw`\\{1,4}`;
const escape = String.raw`(?:\x1b|${backslash}u001[bB])`;
const parameters = '[0-?]*[ -/]*';
const writtenInJson = [
  `00(?:0[0-8bB-fF]|1${hex}|7[fF]|[89]${hex}|[aA][dD])`,
  '034[fF]|061[cC]|115[fF]|1160|17[bB][45]|180[bB-fF]|200[bB-fF]|202[89aA-eE]|206[0-9a-fA-F]|3164',
  `[dD][bB]40${backslash}u[dD][c-fC-F]${hex}{2}|[fF][eE]0${hex}|[fF][eE][fF][fF]|[fF][fF][aA]0|[fF]{3}[0-8]`,
].join('|');
/** A backspace, form feed or carriage return in JSON. */
const shortInJson = `${backslash}[bfr]`;

type Characters = {
  /** The hidden ones. */
  hidden: string;
  /** Their first parts, if they have several. */
  begun: string;
  /** The eight-bit forms that start a sequence, start a terminal string, and end one. */
  csi: string;
  opening: string;
  closing: string;
  /** First characters of all of these, as the inside of a character class. */
  first: string;
  flags: string;
};

function hiddenAmong(characters: Characters): Hidden {
  const { flags } = characters;
  const control = `(?:${escape}\\[|${backslash}u009[bB]|${characters.csi})${parameters}`;
  const opening = `(?:${escape}[\\]PX^_]|${backslash}u009[08d-fD-F]|${characters.opening})`;
  const end = String.raw`(?:\x07|${escape}${backslash}|${backslash}u0007|${characters.closing})`;
  const carried = String.raw`(?:(?!${end})[^\n\x1b]){0,2048}`;
  const single = [
    `${escape}[ -/]*[0-OQ-WYZ\`-~\\\\]?`,
    `${backslash}u(?:${writtenInJson})`,
    shortInJson,
    characters.hidden,
  ].join('|');
  return {
    maybe: new RegExp(String.raw`\\(?:[ubfr]|$)|[\x00-\x08\x0b-\x1f\x7f${characters.first}]`, flags),
    marks: new RegExp(`${control}[@-~]|${opening}|${single}`, `g${flags}`),
    strings: new RegExp(`${control}[@-~]|${opening}${carried}${end}|${opening}|${single}`, `g${flags}`),
    begun: new RegExp(
      `(?:${control}|${opening}${carried}(?:${escape})?|${escape}|${backslash}(?:u${hex}{0,3})?|${characters.begun})$`,
      flags,
    ),
  };
}

/** In a text. */
export const hiddenInText = hiddenAmong({
  hidden: String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]|\p{Default_Ignorable_Code_Point}`,
  begun: String.raw`[\ud800-\udbff]`,
  csi: String.raw`\x9b`,
  opening: String.raw`[\x90\x98\x9d-\x9f]`,
  closing: String.raw`\x9c`,
  first: String.raw`\x80-\x9f\u2028\u2029\p{Default_Ignorable_Code_Point}`,
  flags: 'u',
});

/** In UTF-8 decoded one character per byte. */
export const hiddenInBytes = hiddenAmong({
  hidden: [
    String.raw`[\x00-\x08\x0b-\x1f\x7f]`,
    String.raw`\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c`,
    String.raw`\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])`,
    String.raw`\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])|\xe3\x85\xa4`,
    String.raw`\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xb8])`,
    String.raw`\xf0(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])|\xf3\xa0[\x80-\xbf]{2}`,
  ].join('|'),
  begun: String.raw`[\xc2\xcd\xd8\xe1-\xe3\xef]|[\xe1-\xe3\xef][\x80-\xbf]|[\xf0\xf3][\x80-\xbf]{0,2}`,
  csi: String.raw`\xc2\x9b`,
  opening: String.raw`\xc2[\x90\x98\x9d-\x9f]`,
  closing: String.raw`\xc2\x9c`,
  first: String.raw`\xc2\xcd\xd8\xe1-\xe3\xef\xf0\xf3`,
  flags: '',
});

/** A text with parts removed, and the original position of each remaining character. */
export type Stripped = { text: string; original(index: number): number };

/** Removes all matches of a pattern; null if there are none. */
export function strip(text: string, pattern: RegExp): Stripped | null {
  const left = text.replaceAll(pattern, '');
  if (left.length === text.length) return null;
  // Computed lazily: most texts need no lookup.
  let gaps: Gap[] | null = null;
  return {
    text: left,
    original(index) {
      gaps ??= gapsOf(text, pattern);
      return index + (gapBefore(gaps, index)?.removed ?? 0);
    },
  };
}

/** A position where something was removed, and the total removed up to there. */
type Gap = { at: number; removed: number };

function gapsOf(text: string, pattern: RegExp): Gap[] {
  const gaps: Gap[] = [];
  let removed = 0;
  for (const found of text.matchAll(pattern)) {
    const at = found.index - removed;
    removed += found[0].length;
    gaps.push({ at, removed });
  }
  return gaps;
}

/** The last gap at or before an index. */
function gapBefore(gaps: readonly Gap[], index: number): Gap | undefined {
  let [from, to] = [0, gaps.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((gaps[middle]?.at ?? 0) <= index) from = middle + 1;
    else to = middle;
  }
  return gaps[from - 1];
}

/**
 * The forms in which a text may be displayed: as it is, without hidden characters, and also without the content of
 * terminal strings.
 */
export function shownForms(text: string): string[] {
  if (!hiddenInText.maybe.test(text)) return [text];
  return [text, text.replaceAll(hiddenInText.marks, ''), text.replaceAll(hiddenInText.strings, '')];
}
