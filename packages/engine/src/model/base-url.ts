/** An address with the version of the API, which some settings leave out. */
export function withVersion(baseUrl: string | undefined, version: string): { baseURL?: string } {
  if (baseUrl === undefined) return {};
  const plain = baseUrl.replace(/\/+$/, '');
  return { baseURL: /\/v\d\w*$/.test(plain) ? plain : `${plain}/${version}` };
}
