// The URL of an authorization response: the client's own, with each parameter of ours once.

/** `redirectUri` with these parameters; null ones are left out. */
export function authorizationResponseUrl(
  redirectUri: string,
  parameters: Readonly<Record<string, string | null>>,
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value)
  return url.href
}
