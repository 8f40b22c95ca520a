export interface CommitDetails {
  commit: string
  author: { name: string; email: string } | null
  message: string | null
}

/** Reads the output of `git show` and `git log`: `commit …`, `Author: …`, then the message, indented by four spaces. */
export function readCommitText(text: string): CommitDetails | null {
  const commit = /^commit ([0-9a-f]{40,64})\b/m.exec(text)?.[1]
  if (commit === undefined) return null
  const author = /^Author: *(.*?) *<([^<>]*)>/m.exec(text)
  const message = text
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.slice(4))
    .join('\n')
    .trim()
  return {
    commit,
    author: author === null ? null : { name: author[1] ?? '', email: author[2] ?? '' },
    message: message === '' ? null : message,
  }
}
