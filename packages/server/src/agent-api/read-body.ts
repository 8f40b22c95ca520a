import type { Static, TSchema } from 'typebox'
import { checker } from '../lib/check.ts'
import { parseBody } from '../http/json-body.ts'
import { refused } from '../lib/errors.ts'

/** A missing body counts as an empty object. */
export function bodyReader<S extends TSchema>(schema: S, mostValues?: number): (bytes: Buffer) => Static<S> {
  const check = checker(schema)
  return (bytes) => {
    const text = bytes.toString()
    const body = check(text.trim() === '' ? {} : parseBody(text, mostValues))
    if (!body.ok) throw refused(sentence(body.reason))
    return body.value
  }
}

const sentence = (reason: string) => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
