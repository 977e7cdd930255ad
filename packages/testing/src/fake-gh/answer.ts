export type FakeAnswer = { exitCode: number; stdout: string; stderr: string };

/** A command that ends with a complaint. */
export class Complaint extends Error {
  readonly exitCode: number;
  readonly stdout: string;

  constructor(message: string, exitCode = 1, stdout = '') {
    super(message);
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

/** A complaint of the server, in the way in which `gh` words it. */
export function graphql(message: string, path: string): Complaint {
  return new Complaint(`GraphQL: ${message} (${path})`);
}

/** A complaint about flags: the usage comes with it. */
export function usage(message: string, command: string): Complaint {
  return new Complaint(`${message}\n\nUsage:  gh ${command} [flags]\n`);
}
