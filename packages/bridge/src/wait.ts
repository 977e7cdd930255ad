/** Resolves with the promise's value, or with null after a timeout. The timer keeps nothing alive. */
export async function within<T>(promise: Promise<T>, durationMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, durationMs, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
