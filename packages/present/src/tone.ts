/** The meaning of a text: `good` is fine, `attention` needs a person, `bad` failed. Each screen has its own colours. */
export type Tone = 'plain' | 'strong' | 'muted' | 'good' | 'active' | 'attention' | 'bad';

/** A text with one tone. */
export type Span = { text: string; tone: Tone };

/** A line of text. */
export type Line = Span[];

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}
