import { PawlError } from '@pawl/schema/error';
import { messageOf } from '@pawl/schema/error';
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { line } from './foreign-text.tsx';

const looks = {
  usual: 'border border-line bg-ground hover:bg-hover',
  main: 'border border-accent bg-accent text-on-accent hover:opacity-90',
  danger: 'border border-line bg-ground text-bad hover:bg-hover',
};

export function Button({
  look = 'usual',
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof looks }) {
  return (
    <button
      type="button"
      {...rest}
      className={`rounded-md px-2.5 py-1 text-sm font-medium disabled:opacity-50 ${looks[look]} ${className}`}
    />
  );
}

/** Shown for an empty list: why, and the next command. */
export function Empty({ children, command }: { children: ReactNode; command?: string }) {
  return (
    <div className="flex flex-col items-start gap-2 px-4 py-10 text-muted">
      <p>{children}</p>
      {command !== undefined && <Command>{command}</Command>}
    </div>
  );
}

export function Command({ children }: { children: string }) {
  return <code className="wrap-anywhere rounded bg-raised px-1.5 py-0.5 font-mono text-sm text-ink">{children}</code>;
}

/** An error with what to do. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const hint = error instanceof PawlError ? error.hint : undefined;
  return (
    <div role="alert" className="rounded-md border border-bad/40 bg-raised px-3 py-2 text-sm">
      <p className="text-bad">{line(messageOf(error), 1_000)}</p>
      {hint !== undefined && <p className="text-muted">{line(hint, 1_000)}</p>}
      {again !== undefined && (
        <Button className="mt-1.5" onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The state of an answer: the page while it is there, else waiting, or what is wrong. */
export function Loaded<T>({
  answer,
  children,
}: {
  answer: { data: T | undefined; error: unknown; refetch(): unknown };
  children(data: T): ReactNode;
}) {
  if (answer.data !== undefined) return children(answer.data);
  if (answer.error) {
    return (
      <div className="p-4">
        <Failure error={answer.error} again={() => void answer.refetch()} />
      </div>
    );
  }
  return (
    <p className="px-4 py-10 text-muted" aria-busy="true">
      Loading…
    </p>
  );
}

export function Title({ children, aside }: { children: ReactNode; aside?: ReactNode }) {
  return (
    <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
      <h1 className="min-w-0 text-lg font-semibold wrap-anywhere">{children}</h1>
      {aside !== undefined && <div className="ml-auto flex flex-wrap items-center gap-2">{aside}</div>}
    </header>
  );
}

export function Section({ title, children, aside }: { title: string; children: ReactNode; aside?: ReactNode }) {
  return (
    <section className="border-b border-line px-4 py-3 last:border-b-0">
      <div className="mb-2 flex items-center gap-2">
        <h2 className="text-xs font-semibold tracking-wide text-muted uppercase">{title}</h2>
        {aside !== undefined && <span className="text-xs text-muted">{aside}</span>}
      </div>
      {children}
    </section>
  );
}

export const fieldLook =
  'w-full rounded-md border border-line bg-ground px-2 py-1.5 text-base placeholder:text-muted focus-visible:outline-2 focus-visible:outline-accent';
