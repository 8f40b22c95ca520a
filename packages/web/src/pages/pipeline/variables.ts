type Read = { ok: true; values: Record<string, string> } | { ok: false; problem: string }

/** Lines of NAME=value; empty lines do not count. */
export function readVariables(text: string): Read {
  const values: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) {
      return { ok: false, problem: `Line ${index + 1} is not of the form NAME=value.` }
    }
    values[name] = value
  }
  return { ok: true, values }
}
