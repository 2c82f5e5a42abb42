// Aggregates of optional fields. Absent values are skipped.

extension Results where Element: ModelObject {
    /// The minimum of a field among the members that have a value; nil if none has.
    public func min<V: OrderedValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> V? {
        min(ofProperty: field(Element.fields).keyPath)
    }

    /// The maximum of a field among the members that have a value; nil if none has.
    public func max<V: OrderedValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> V? {
        max(ofProperty: field(Element.fields).keyPath)
    }

    /// The sum of a field over the members that have a value; zero if none has.
    public func sum<V: NumericValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> V {
        sum(ofProperty: field(Element.fields).keyPath)
    }

    /// The average of a field over the members that have a value; nil if none has.
    public func average<V: NumericValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> Double? {
        average(ofProperty: field(Element.fields).keyPath)
    }
}

extension RealmCollection where Element: ModelObject {
    /// The minimum of a field among the elements that have a value; nil if none has.
    public func min<V: OrderedValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> V? {
        min(ofProperty: field(Element.fields).keyPath)
    }

    /// The maximum of a field among the elements that have a value; nil if none has.
    public func max<V: OrderedValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> V? {
        max(ofProperty: field(Element.fields).keyPath)
    }

    /// The sum of a field over the elements that have a value; zero if none has.
    public func sum<V: NumericValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> V {
        sum(ofProperty: field(Element.fields).keyPath)
    }

    /// The average of a field over the elements that have a value; nil if none has.
    public func average<V: NumericValue>(of field: (Element.RootFields) -> Field<Element, V?>) -> Double? {
        average(ofProperty: field(Element.fields).keyPath)
    }
}
