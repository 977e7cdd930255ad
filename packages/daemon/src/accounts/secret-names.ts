const secretField = /token|key|secret|password/i;

/** Shorter values of such fields are not secrets, but words like `Bearer`. */
export const secretCharacters = 16;

/** Plain words, perhaps joined: what people enter as the key of a server that needs none, such as `not-needed`. */
const words = /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)(?:[-_. ](?:[a-z]+|[A-Z][a-z]*|[A-Z]+))*$/;

/** True if a value also occurs in ordinary text, so that masking it would only do harm. */
export function isOrdinary(value: string): boolean {
  return value.length < secretCharacters && words.test(value);
}

/** True if a name suggests a secret. */
export function isSecretName(name: string): boolean {
  return secretField.test(name);
}
