/** Shown without a session: how to get one. */
export function SignedOut({ why }: { why: string | null }) {
  return (
    <main className="mx-auto flex h-full max-w-md flex-col justify-center gap-3 p-6">
      <h1 className="text-lg font-semibold">Pawl</h1>
      {why !== null && <p role="alert">{why}</p>}
      <p>
        This browser has no session. Run <code className="rounded bg-raised px-1 font-mono">pawl web</code> in a
        terminal on the machine where Pawl runs.
      </p>
    </main>
  );
}
