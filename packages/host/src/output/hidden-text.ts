/**
 * Characters that a terminal or a page does not show: escape sequences, control characters but tab and newline, and code
 * points that Unicode says to ignore. `sk-\e[0mabc` shows as `sk-abc`, so secrets are searched without them.
 * No sequence reaches beyond its line. JSON's way to write them (`\u001b`) counts too, for most CLIs print JSON.
 */
export type Hidden = {
  /** Whether a text may have any of it: quick to tell, for most have none. */
  maybe: RegExp;
  /** Everything that does not show; what a title or a link carries stays, for it may be the text that is looked for. */
  marks: RegExp;
  /** The same, and titles, links and other strings for the terminal with all that they carry. */
  strings: RegExp;
  /** The beginning of such a sequence, or of such a character, at the end of a text. */
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
/** A backspace, form feed or carriage return as JSON writes it. */
const shortInJson = `${backslash}[bfr]`;

type Characters = {
  /** Those that do not show. */
  hidden: string;
  /** Their first parts, where one has several. */
  begun: string;
  /** The eight-bit forms of what begins a sequence, begins a string for the terminal, and ends one. */
  csi: string;
  opening: string;
  closing: string;
  /** Any that one of these begins with, as the inside of a class. */
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

/** In UTF-8 that is read one character for each byte. */
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

/** A text without some of its places, and where a character of what is left stood before. */
export type Stripped = { text: string; original(index: number): number };

/** Takes out all that a pattern finds; null when that is nothing. */
export function strip(text: string, pattern: RegExp): Stripped | null {
  const left = text.replaceAll(pattern, '');
  if (left.length === text.length) return null;
  // Most texts have nothing to look up, so this is only made when something was found in what is left.
  let gaps: Gap[] | null = null;
  return {
    text: left,
    original(index) {
      gaps ??= gapsOf(text, pattern);
      return index + (gapBefore(gaps, index)?.removed ?? 0);
    },
  };
}

/** Where something was taken out of what is left, and how much in all up to there. */
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

/** A text as it may be shown: without what does not show, and also without what strings for the terminal carry. */
export function shownForms(text: string): string[] {
  if (!hiddenInText.maybe.test(text)) return [text];
  return [text, text.replaceAll(hiddenInText.marks, ''), text.replaceAll(hiddenInText.strings, '')];
}
