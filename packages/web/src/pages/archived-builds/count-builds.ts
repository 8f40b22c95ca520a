/** `1 build`, `1,204 builds` */
export const countBuilds = (count: number): string =>
  `${count.toLocaleString()} ${count === 1 ? 'build' : 'builds'}`
