// A module's text, as the views' bundle puts it in the import's place.
declare module "*?text" {
  const text: string;
  export default text;
}
