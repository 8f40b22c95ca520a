import { InvalidArgumentError } from 'commander'

export type Pair = readonly [name: string, value: string]

/** For a repeated option such as `--env NAME=VALUE`. */
export function collectPairs(text: string, earlier: readonly Pair[] = []): Pair[] {
  const split = text.indexOf('=')
  if (split < 1) throw new InvalidArgumentError('It is written NAME=VALUE.')
  return [...earlier, [text.slice(0, split), text.slice(split + 1)]]
}
