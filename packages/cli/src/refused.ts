/** An error that the user can correct. The message goes to stderr; it is empty if everything is printed already. */
export class Refused extends Error {
  override readonly name = 'Refused'
}
