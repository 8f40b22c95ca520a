// What is mostly there at once, and sometimes has to be waited for. A promise for each step of each request would cost
// more than the steps.
export type Soon<T> = T | Promise<T>

/** `use` at once where the value is there. */
export const after = <T, U>(value: Soon<T>, use: (value: T) => Soon<U>): Soon<U> =>
  value instanceof Promise ? value.then(use) : use(value)
