// Requests to addresses that users give. A name is resolved once, every address it has is judged, and the connection is made to
// these very addresses: a name that leads elsewhere a moment later (DNS rebinding) gains nothing. Nothing is followed, no
// connection is kept, so every request is judged anew.
import { lookup as lookupName } from 'node:dns/promises'
import { isIPv6, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isWithinReach, judgeUrl, NOT_PUBLIC, type OutboundPolicy, type Reach, RefusedAddress } from './judge-url.ts'

type Address = { readonly address: string; readonly family: number }
export type Resolve = (hostname: string) => Promise<readonly Address[]>

export type OutboundTimes = {
  /** To a connection, with the resolution of the name and TLS. */
  readonly connectMs: number
  /** To the head of the answer, once the request is sent. */
  readonly headMs: number
  /** Between two pieces of the answer. */
  readonly silenceMs: number
}

const resolveAll: Resolve = hostname => lookupName(hostname, { all: true })

/** An agent that connects to nothing `policy` does not allow; such a request fails with RefusedAddress before any connection. */
export function createOutboundAgent(
  policy: OutboundPolicy,
  times: OutboundTimes,
  resolve: Resolve = resolveAll,
): Agent {
  const connectorOf = (reach: Reach) => {
    const lookup = lookupOf(resolve, address => isWithinReach(reach, address, policy))
    return buildConnector({ timeout: times.connectMs, lookup })
  }
  const connectors = { ANY: connectorOf('ANY'), NETWORKS: connectorOf('NETWORKS'), PUBLIC: connectorOf('PUBLIC') }
  const connect: buildConnector.connector = (options, callback) => {
    try {
      const { hostname, protocol, port } = options
      const host = isIPv6(hostname) ? `[${hostname}]` : hostname
      // A host that is an address is never looked up, so it is judged here, again.
      const { reach } = judgeUrl(`${protocol}//${host}${port ? `:${port}` : ''}`, policy)
      connectors[reach](options, callback)
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null)
    }
  }
  return new Agent({ connect, headersTimeout: times.headMs, bodyTimeout: times.silenceMs, pipelining: 0 })
}

const lookupOf =
  (resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) => {
    const judged = resolve(hostname).then(addresses => {
      const [first] = addresses
      // One that is not public spoils the others: which of them is connected to is not ours to say.
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
        throw new RefusedAddress(`The address ${NOT_PUBLIC}.`)
      }
      return { first, addresses }
    })
    judged.then(
      ({ first, addresses }) => {
        if (options.all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, ''),
    )
  }
