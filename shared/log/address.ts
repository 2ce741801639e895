// Where the usage log's broker is, and as whom to connect, from one setting.

/** What the NATS client takes: servers without credentials, and the credentials of the first address that has some. */
export type BrokerAddress = { readonly servers: string[]; readonly user?: string; readonly pass?: string }

/** NATS_URL as connection options: `nats://user:password@host:port`, several separated by commas. */
export function brokerAddress(url: string): BrokerAddress {
  const addresses = url.split(',').map(text => new URL(text.includes('://') ? text.trim() : `nats://${text.trim()}`))
  const owner = addresses.find(address => address.username !== '')
  const servers = addresses.map(address => address.host)
  if (!owner) return { servers }
  return { servers, user: decodeURIComponent(owner.username), pass: decodeURIComponent(owner.password) }
}
