// The official SDK of the protocol, loaded by the first message: it is large, and most installations start without an agent.

/** What is used of it. Its own validator judges forms that a server sends to its user; this one sends none, and one is enough. */
export type Sdk = Awaited<ReturnType<typeof load>>

async function load() {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport }, types, { AjvJsonSchemaValidator }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
      import('@modelcontextprotocol/sdk/validation/ajv'),
    ])
  return {
    Server,
    Transport: WebStandardStreamableHTTPServerTransport,
    ...types,
    validator: new AjvJsonSchemaValidator(),
  }
}

let loaded: Promise<Sdk> | null = null

/** The SDK; loaded once. */
export function loadSdk(): Promise<Sdk> {
  loaded ??= load()
  return loaded
}
