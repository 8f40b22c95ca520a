/**
 * What a run starts lives for seconds, or a minute. V8 optimizes what has run ten times as much as usual: of what it
 * would have optimized, hardly any ran again. Later versions have a compiler in between, and no such option.
 */
export const v8Options: readonly string[] = process.version.startsWith('v20.')
  ? ['--interrupt-budget=1500000']
  : []
