const secretField = /token|key|secret|password/i;

/** Shorter values of such fields are no secrets, but words like `Bearer`. */
export const secretCharacters = 16;

/** Words, perhaps joined: what people enter as the key of a server that needs none, such as `not-needed`. */
const words = /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)(?:[-_. ](?:[a-z]+|[A-Z][a-z]*|[A-Z]+))*$/;

/** Whether a value would be found in ordinary text, too, so that masking it would only do harm. */
export function isOrdinary(value: string): boolean {
  return value.length < secretCharacters && words.test(value);
}

/** Whether a name is one that secrets have. */
export function isSecretName(name: string): boolean {
  return secretField.test(name);
}
