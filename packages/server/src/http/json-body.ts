// Parses JSON bodies. What cannot be stored or would exhaust a recursive reader is refused here, for every endpoint.
import { badRequest } from '../lib/errors.ts'
import { findUnstorable } from '../lib/unstorable.ts'

const deepest = 64
/** More than any of our bodies needs, and few enough to check quickly. */
const defaultMostValues = 10_000

/** Depth and number of values are counted before the parser allocates anything. */
export function parseBody(text: string, mostValues = defaultMostValues): unknown {
  const { depth, values } = measureJson(text)
  if (depth > deepest) throw badRequest(`The request body is nested more than ${deepest} levels deep.`)
  if (values > mostValues) throw badRequest(`The request body holds more than ${mostValues} values.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badRequest(
      `The request body is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`,
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The request body must be a JSON object.')
  }
  // NUL and halves of surrogate pairs can only be written as escapes.
  if (/\\u(0000|d[89a-f])/i.test(text)) {
    const where = findUnstorable(value)
    if (where !== null)
      throw badRequest(`${where} contains characters that cannot be stored (NUL or half a surrogate pair).`)
  }
  return value
}

export function measureJson(text: string): { depth: number; values: number } {
  let open = 0
  let values = 1
  let most = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 92) i++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 44) values++
    else if (code === 91 || code === 123) {
      values++
      most = Math.max(most, ++open)
    } else if (code === 93 || code === 125) open--
  }
  return { depth: most, values }
}
