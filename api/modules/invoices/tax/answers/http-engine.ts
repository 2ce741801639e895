// A tax engine that is asked over HTTP: an adapter to Avalara, Vertex, Stripe Tax or the like that speaks the protocol of
// docs/operating.md. Another way to ask is another file like this one.
import {
  type EngineAnswer,
  NoTaxAnswer,
  readEngineAnswer,
  type TaxEngine,
} from '../../../../../shared/billing/tax/tax-engine.ts'
import { judgeUrl, onlyHostOf, RefusedAddress } from '../../../../../shared/outbound/judge-url.ts'
import { createOutboundRequest, type OutboundAnswer } from '../../../../../shared/outbound/outbound-request.ts'

const TIMES = { connectMs: 5_000, headMs: 20_000, silenceMs: 5_000 }
const ANSWER_BYTES_MAX = 64 * 1024

export type HttpEngineSettings = {
  readonly TAX_ENGINE_URL: string | null
  readonly TAX_ENGINE_SECRET: string | null
}

/**
 * The engine of these settings; null where there is none. The operator chose its address, so it alone may be asked, wherever it is:
 * OUTBOUND_HOSTS is for addresses that tenants give.
 */
export function httpTaxEngine({
  TAX_ENGINE_URL: address,
  TAX_ENGINE_SECRET: secret,
}: HttpEngineSettings): TaxEngine | null {
  if (address === null) return null
  const policy = onlyHostOf(address)
  const request = createOutboundRequest(policy, TIMES)
  return {
    // Tenants read it; the address is the operator's.
    name: 'Tax engine',
    ask: async (question, { platformId, environment, signal }) => {
      const body = JSON.stringify({ platform_id: platformId, environment, question })
      const headers = {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'user-agent': 'Millrace',
        ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      }
      try {
        return await answerOf(
          await request({ url: judgeUrl(address, policy).url, method: 'POST', headers, body, signal }),
        )
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof NoTaxAnswer ? error : unreachable(error)
      }
    },
  }
}

async function answerOf({ statusCode, body }: OutboundAnswer): Promise<EngineAnswer> {
  try {
    const parts: Buffer[] = []
    let bytes = 0
    for await (const part of body) {
      parts.push(part)
      bytes += part.length
      if (bytes > ANSWER_BYTES_MAX) throw new NoTaxAnswer('The answer of the tax engine is too long.')
    }
    const json = jsonOf(Buffer.concat(parts).toString('utf8'))
    if (statusCode === 200) return readEngineAnswer(json)
    if (statusCode === 422) throw new NoTaxAnswer(refusalOf(json), { isRefusal: true })
    throw new NoTaxAnswer(`The tax engine answered with the status ${statusCode}.`)
  } finally {
    body.destroy()
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const MESSAGE_LENGTH_MAX = 300

/** An engine that cannot say says why, for the person who has to mend it: 422 `{"message": "…"}`. */
function refusalOf(json: unknown): string {
  const message = typeof json === 'object' && json !== null && 'message' in json ? json.message : null
  const text =
    typeof message === 'string'
      ? message
          .replace(/\p{Cc}+/gu, ' ')
          .trim()
          .slice(0, MESSAGE_LENGTH_MAX)
      : ''
  return text ? `The tax engine says: ${text}` : 'The tax engine refused the question.'
}

function unreachable(error: unknown): NoTaxAnswer {
  if (error instanceof RefusedAddress) return new NoTaxAnswer(`The tax engine may not be asked: ${error.message}`)
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ERROR'
  return new NoTaxAnswer(`The tax engine could not be reached (${code}).`)
}
