import type { Tone } from '@pawl/present/tone';

/** Literal class names, so that they are found when the page is built. */
const colours: Record<Tone, string> = {
  plain: 'text-ink',
  strong: 'text-ink font-semibold',
  muted: 'text-muted',
  good: 'text-good',
  active: 'text-active',
  attention: 'text-attention',
  bad: 'text-bad',
};

export const toneClass = (tone: Tone) => colours[tone];

/** The shape of a tone, so that no state is told by colour alone. */
function Shape({ tone }: { tone: Tone }) {
  const shape = { width: 10, height: 10, viewBox: '0 0 10 10', 'aria-hidden': true, className: 'shrink-0' } as const;
  switch (tone) {
    case 'good':
      return (
        <svg {...shape}>
          <path d="M1.5 5.5 4 8l4.5-6" fill="none" stroke="currentColor" strokeWidth="2" />
        </svg>
      );
    case 'active':
      return (
        <svg {...shape}>
          <circle cx="5" cy="5" r="4" fill="currentColor" />
        </svg>
      );
    case 'attention':
      return (
        <svg {...shape}>
          <path d="M5 .5 9.8 9.5H.2z" fill="currentColor" />
        </svg>
      );
    case 'bad':
      return (
        <svg {...shape}>
          <path d="m1 1 8 8M9 1 1 9" stroke="currentColor" strokeWidth="2.2" />
        </svg>
      );
    default:
      return (
        <svg {...shape}>
          <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" strokeWidth="1.5" />
        </svg>
      );
  }
}

/** A state: its shape and word in the colour of its tone. */
export function Mark({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap text-sm ${colours[tone]}`}>
      <Shape tone={tone} />
      {children.replaceAll('_', ' ')}
    </span>
  );
}
