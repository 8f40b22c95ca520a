interface CommitDetails {
  commit: string
  author: { name: string; email: string } | null
  message: string | null
}

/** Reads the output of `git show` and `git log`: `commit …`, `Author: …`, then the message, indented by four spaces. */
export function readCommitText(text: string): CommitDetails | null {
  const commit = /^commit ([0-9a-f]{40,64})\b/m.exec(text)?.[1]
  if (commit === undefined) return null
  const lines = text.split('\n')
  const message = lines
    .filter((line) => line.startsWith('    '))
    .map((line) => line.slice(4))
    .join('\n')
    .trim()
  return {
    commit,
    author: readAuthor(lines),
    message: message === '' ? null : message,
  }
}

const authorStart = 'Author:'

/** Not one regular expression: on a long run of blanks it would take the cube of its length. */
function readAuthor(lines: readonly string[]): CommitDetails['author'] {
  for (const line of lines) {
    const end = line.startsWith(authorStart) ? line.indexOf('>', line.indexOf('<')) : -1
    const start = line.lastIndexOf('<', end)
    if (end === -1 || start === -1) continue
    return { name: line.slice(authorStart.length, start).trim(), email: line.slice(start + 1, end) }
  }
  return null
}
