/** Times such as 10:30:00 are no names. */
const NAME = /(?<![A-Za-z0-9]):([a-z0-9_+-]{1,60}):(?![A-Za-z0-9])/g

/** Replaces the names of emoji in a text; null leaves a name as it was typed. */
export const replaceNames = (text: string, find: (name: string) => string | null): string =>
  text.replace(NAME, (typed: string, name: string) => find(name) ?? typed)
