// Calls a model as a CLI does, with the key and the base URL of its environment: so many times, or until refused.
// A lost connection is retried, as CLIs do.
const [count = '1', pauseMs = '0'] = process.argv.slice(2);
const { SCRIPTED_BASE_URL: server, SCRIPTED_API_KEY: key = '' } = process.env;
const body = JSON.stringify({
  model: 'm',
  max_tokens: 9,
  stream: true,
  messages: [{ role: 'user', content: 'Hello' }],
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function call(): Promise<{ answer: Response; text: string }> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await fetch(`${server}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body });
      return { answer, text: await answer.text() };
    } catch (error) {
      if (tries === 200) throw error;
      await pause(50);
    }
  }
}

for (let done = 0; done < Number(count); done++) {
  const { answer, text } = await call();
  process.stdout.write(`call ${done + 1}: ${answer.status} ${answer.ok ? '' : text}\n`);
  if (!answer.ok) process.exit(1);
  await pause(Number(pauseMs));
}
