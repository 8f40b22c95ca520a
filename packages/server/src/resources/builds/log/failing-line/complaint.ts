// Whether a row by itself looks like a failure. The finder judges rows together, and points at one of them.
import { findFamily } from './families.ts'
import { general, harmless, hasCue, prefix, success, zeroCount } from './ordinary.ts'

/** The rest of a longer row is not looked at. */
const mostCharacters = 400

export function isComplaint(whole: string): boolean {
  const cut = whole.slice(0, mostCharacters)
  if (!hasCue(cut) || success.test(cut)) return false
  const text = cut.slice(prefix.exec(cut)?.[0].length ?? 0)
  const family = findFamily(text)
  if (family !== null)
    return family.shapes.some(({ begins }) => begins.test(text)) || family.fails?.test(text) === true
  return (
    !harmless.test(text) && !zeroCount.test(text) && general.shapes.some(({ begins }) => begins.test(text))
  )
}
