import type { Pipeline } from '@millrace/server/wire.ts'
import { openApi } from '../api.ts'
import { readProfiles } from '../profiles.ts'

const MOST = 300
const PATIENCE_MS = 2000

/** Prints nothing if the server refuses or is slow: nobody who presses the tab key wants to read an error. */
export async function printValues(kind: 'pipelines' | 'profiles'): Promise<void> {
  const print = (value: string): void => {
    // The value is put into a command line, so one that a shell would act on is left out.
    if (/^[A-Za-z0-9][\w.:@-]*$/.test(value)) process.stdout.write(`${value}\n`)
  }
  if (kind === 'profiles') {
    for (const name of Object.keys(readProfiles().profiles)) print(name)
    return
  }
  setTimeout(() => process.exit(0), PATIENCE_MS).unref()
  try {
    const api = await openApi({ color: false })
    let count = 0
    for await (const { slug } of api.pages<Pipeline>('pipelines')) {
      print(slug)
      count += 1
      if (count === MOST) break
    }
  } catch {
    // See above.
  }
}
