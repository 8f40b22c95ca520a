/** Whether an instruction of a Dockerfile is FROM. Lines that end in a backslash go on in the next one. */
export function hasFrom(dockerfile: string): boolean {
  let isContinued = false
  for (const line of dockerfile.split(/\r\n|\r|\n/)) {
    const text = line.trim()
    // Comments and blank lines neither begin nor end an instruction.
    if (text === '' || text.startsWith('#')) continue
    if (!isContinued && /^from(\s|\\|$)/i.test(text)) return true
    isContinued = text.endsWith('\\')
  }
  return false
}
