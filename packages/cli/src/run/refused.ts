/** What its reader can put right. The message goes to stderr, unless all has been said already and it is empty. */
export class Refused extends Error {
  override readonly name = 'Refused'
}
