export type FakeAnswer = { exitCode: number; stdout: string; stderr: string };

/** A command that fails. */
export class Complaint extends Error {
  readonly exitCode: number;
  readonly stdout: string;

  constructor(message: string, exitCode = 1, stdout = '') {
    super(message);
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

/** A server error, worded like `gh`. */
export function graphql(message: string, path: string): Complaint {
  return new Complaint(`GraphQL: ${message} (${path})`);
}

/** A flag error, with the usage. */
export function usage(message: string, command: string): Complaint {
  return new Complaint(`${message}\n\nUsage:  gh ${command} [flags]\n`);
}
